"""Order among encodings by a metric: columns, sentences on the ends, and what is unusual."""
