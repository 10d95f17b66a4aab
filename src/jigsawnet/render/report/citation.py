"""How to cite: the facts of CITATION.cff, in words and as BibTeX."""

PAPER = (
    "Canyu Le and Xin Li: JigsawNet: Shredded Image Reassembly Using Convolutional Neural Network and Loop-Based Composition. "
    "IEEE Transactions on Image Processing, 28(8):4000-4015, 2019. arXiv:1809.04137"
)
PAPER_URL = "https://arxiv.org/abs/1809.04137"
_BIBTEX = """@article{{le2019jigsawnet,
  title = {{JigsawNet: Shredded Image Reassembly Using Convolutional Neural Network and Loop-Based Composition}},
  author = {{Le, Canyu and Li, Xin}},
  journal = {{IEEE Transactions on Image Processing}},
  volume = {{28}}, number = {{8}}, pages = {{4000--4015}}, year = {{2019}},
  url = {{https://arxiv.org/abs/1809.04137}}
}}
@software{{jigsawnet,
  title = {{jigsawnet}}, author = {{{{The jigsawnet developers}}}}, version = {{{version}}}
}}"""


def bibtex(version: str) -> str:
    """Two entries: the paper whose method is followed, and this program."""
    return _BIBTEX.format(version=version)
