"""What matplotlib does not draw: cards, strips, and the colours that they share with figures."""
