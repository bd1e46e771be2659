/* A paragraph of plain text below a block. */
blocks.note = (root, block) => { root.append(element("p.caption", {}, block.text)); };
