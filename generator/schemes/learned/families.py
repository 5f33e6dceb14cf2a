"""Model families with a learned table and another encoding that is not shown, or is in doubt, or
whose table is not only added.
"""

# Published with the table alone; transformers ignores it and adds ALiBi.
TABLE_IGNORED = frozenset({"mpt"})
NOTES = {
    "bros": (
        "Queries are also multiplied with sinusoids of the differences between word boxes, after a"
        " learned projection. These are not shown."
    ),
    "perceiver": (
        "In this family, a decoder table holds the decoder's queries, one for each output position."
        " An input table is added to text vectors and concatenated to image vectors."
    ),
}
