"""Scans and photographs of many pieces, made with their truth; how well their pieces are found.

`lay` lays pieces on pages, `grounds` paints what they lie on, `camera` bends the picture, `photographs` takes one of a sheet,
`made` draws a page at random, `score` compares what was found with the truth, `truth` says where the pieces belong, `suite` is
``jigsawnet bench scans``.
"""
