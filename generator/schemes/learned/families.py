"""Model families with a learned table, by what stands beside it and is not shown, or is in doubt."""

# Publish models trained with the table alone; the code of transformers has no place for it and adds ALiBi all the same.
TABLE_IGNORED = frozenset({"mpt"})
BESIDE = {
    "bros": "Besides, sinusoids of the differences between two words' boxes, through a learned map, are multiplied with the query; these are not shown.",
}
