/** Colours that people with any kind of colour vision can tell apart: the scale of the report, blue sure and red not. */

/** Steps of the scale, the surest first; the same as in report.html. */
export const GRADES = [
  { atLeast: 0.99, color: "#2c7bb6", words: "99 % and more" },
  { atLeast: 0.95, color: "#abd9e9", words: "95 to 99 %" },
  { atLeast: 0.8, color: "#ffffbf", words: "80 to 95 %" },
  { atLeast: 0.5, color: "#fdae61", words: "50 to 80 %" },
  { atLeast: 0, color: "#d7191c", words: "below 50 %" },
];

/** The step of a share in [0, 1], as its number. */
export const gradeOf = (share) => {
  const found = GRADES.findIndex((grade) => share >= grade.atLeast);
  return found < 0 ? GRADES.length - 1 : found;
};

/** Colour of a share in [0, 1]. */
export const scaleColor = (share) => GRADES[gradeOf(share)].color;

/** Black or white, whichever is read better on the colour of `share`. */
export const inkOn = (share) => (gradeOf(share) % (GRADES.length - 1) === 0 ? "#ffffff" : "#101318");

export const RIGHT = "#0072b2";
export const WRONG = "#d55e00";

/** Colours of the drawing, read from the style sheet so that they follow light and dark. */
export function readPalette() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  return {
    ground: read("--ground"), blank: read("--blank"), accent: read("--accent"), casing: read("--casing"), outline: read("--outline"),
  };
}
