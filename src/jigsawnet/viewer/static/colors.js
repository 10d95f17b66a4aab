/** Colours that people with any kind of colour vision can tell apart: a scale from dark blue to yellow (cividis). */

const STOPS = [
  [0, 34, 78], [18, 53, 112], [59, 73, 108], [87, 93, 109], [112, 113, 115],
  [138, 134, 120], [165, 156, 116], [195, 179, 105], [225, 204, 85], [254, 232, 56],
];

/** Colour of a share in [0, 1]. */
export function scaleColor(share) {
  const at = Math.min(Math.max(share, 0), 1) * (STOPS.length - 1);
  const low = Math.min(Math.floor(at), STOPS.length - 2);
  const mix = STOPS[low].map((value, k) => Math.round(value + (at - low) * (STOPS[low + 1][k] - value)));
  return `rgb(${mix.join(" ")})`;
}

/** Black or white, whichever is read better on the colour of `share`. */
export const inkOn = (share) => (share > 0.45 ? "#101318" : "#ffffff");

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
