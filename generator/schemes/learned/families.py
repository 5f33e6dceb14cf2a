"""Model families with a learned table and another encoding that is not shown, or is in doubt, or whose table is not only added."""

# Published with the table alone; transformers ignores it and adds ALiBi.
TABLE_IGNORED = frozenset({"mpt"})
NOTES = {
    "bros": "Besides, sinusoids of the differences between two words' boxes, through a learned map, are multiplied with the query; these are not shown.",
    "perceiver": "In this family a table of the decoder holds its queries, one for each position of the output; a table of the input is added to "
    "the vectors of a text and joined to those of an image.",
}
