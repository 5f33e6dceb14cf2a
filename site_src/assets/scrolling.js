/* Keys reach what scrolls sideways: it takes the focus, with a name, as long as it does not fit. Headings of long tables stay in sight. */
(function () {
  "use strict";
  const sizes = new ResizeObserver((areas) => areas.forEach(({ target }) => name(target)));

  function name(area) {
    const caption = area.querySelector("caption")?.firstChild.textContent.trim();
    const names = { tabindex: 0, role: "group", "aria-label": caption || (area.matches(".pa-formula") ? "Formula" : area.matches("code") ? "Code" : "Table") };
    const fits = area.scrollWidth <= area.clientWidth;
    Object.entries(names).forEach(([key, value]) => (fits ? area.removeAttribute(key) : area.setAttribute(key, value)));
  }

  document.querySelectorAll(".pa-wide:not([tabindex]), .pa-formula, .pa-lesson-figure").forEach((area) => sizes.observe(area));

  // The theme takes the focus from code where nothing hovers.
  const taken = new MutationObserver((changes) => changes.forEach(({ target }) => target.hasAttribute("tabindex") || name(target)));
  // The theme gives the button to copy a landmark without a name.
  const unmark = (block) => block.querySelector("nav")?.setAttribute("role", "none");
  const added = new MutationObserver((changes) => changes.forEach(({ target }) => unmark(target)));
  document.querySelectorAll("pre > code").forEach((code) => {
    sizes.observe(code);
    taken.observe(code, { attributeFilter: ["tabindex"] });
    added.observe(code.parentElement, { childList: true });
    unmark(code.parentElement);
  });

  const header = document.querySelector(".md-header");
  const heads = [...document.querySelectorAll(".pa-sheet thead")];
  const follow = () => heads.forEach((head) => {
    const body = head.parentElement.tBodies[0].getBoundingClientRect();
    const down = header.getBoundingClientRect().bottom + head.offsetHeight - body.top;
    head.style.transform = down > 0 ? `translateY(${Math.min(down, body.height)}px)` : "";
  });
  if (!heads.length) return;
  addEventListener("scroll", follow, { passive: true });
  new ResizeObserver(follow).observe(document.body); // Tabs that go away move the page.
})();
