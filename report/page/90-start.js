/* Builds the page from its sections. */
(() => {
  const main = document.getElementById("page");
  const head = element("header", {},
    element("div.head", {}, element("div", {}, element("div.brand", {}, `Huddle${page.subtitle ? " · " + page.subtitle : ""}`), element("h1", {}, page.title)), themeButton()));
  const contents = element("nav.contents", { "aria-label": "Contents" });
  for (const section of page.sections)
    if (section.title) contents.append(element("a", { href: `#${section.id}` }, section.title));
  main.replaceChildren(head);
  for (const section of page.sections) {
    const root = element("section", { id: section.id });
    if (section.title) root.append(element("h2", {}, section.title));
    if (section.lead) root.append(element("p.lead", {}, section.lead));
    main.append(root);
    for (const block of section.blocks)
      if (blocks[block.kind]) blocks[block.kind](root, block);
  }
  if (contents.children.length > 1) head.append(contents);
  main.append(element("footer", {}, `Written by Huddle ${page.version}. This file contains all its data and loads nothing from the network.`));
  document.documentElement.dataset.ready = "true";
})();
