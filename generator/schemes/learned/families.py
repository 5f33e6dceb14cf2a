"""Model families with a learned table and another encoding that is not shown, or is in doubt."""

# Trained with the table alone; transformers ignores it and adds ALiBi.
TABLE_IGNORED = frozenset({"mpt"})
OTHER_ENCODINGS = {
    "bros": "Besides, sinusoids of the differences between two words' boxes, through a learned map, are multiplied with the query; these are not shown.",
}
