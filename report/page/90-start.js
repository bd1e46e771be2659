/* Builds the page from its sections. */

/* Sections of which the picture has taken all blocks are left out. */
const isTaken = (block) => !blocks[block.kind] || (block.kind === "views" && block.views.length < 2);
const isDrawn = (section) => section.blocks.length === 0 || !section.blocks.every(isTaken);

(() => {
  const main = document.getElementById("page"), isLong = Boolean(page.subtitle) && page.subtitle.length > 30;
  const head = element("header", {},
    element("div.head", {}, element("div", {}, element("div.brand", {}, `Huddle${page.subtitle && !isLong ? " · " + page.subtitle : ""}`), element("h1", {}, page.title), isLong ? element("p.subtitle", {}, sentence(page.subtitle)) : null), themeButton()));
  const contents = element("nav.contents", { "aria-label": "Contents" });
  for (const section of page.sections)
    if (section.title && isDrawn(section)) contents.append(element("a", { href: `#${section.id}` }, section.title));
  main.replaceChildren(head);
  for (const section of page.sections.filter(isDrawn)) {
    const root = element("section", { id: section.id });
    if (section.title) root.append(element("h2", {}, section.title));
    if (section.lead) root.append(element("p.lead", {}, section.lead));
    main.append(root);
    for (const block of section.blocks)
      if (blocks[block.kind]) blocks[block.kind](root, block);
  }
  /* The picture comes first, so the contents follow it. */
  const first = main.querySelector("section"), isHead = page.sections.length > 0 && page.sections[0].title === "";
  if (contents.children.length > 1) (isHead ? first : head).after(contents);
  main.append(element("footer", {}, `Written by Huddle ${page.version}. This file contains all its data and loads nothing from the network.`));
  document.documentElement.dataset.ready = "true";
})();
