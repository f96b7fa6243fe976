"use strict";
// The same picture as an SVG file, for an engine without a browser.

/** The text of an SVG file; `depth` is the number of levels of open boxes, null opens all. */
async function svgOf(picture, style, elk, depth) {
  const tree = new Tree(picture);
  const drawing = new Drawing(tree, picture);
  const scene = await new Layouts(tree, elk).arrange(tree.opened(depth ?? Infinity));
  const [width, height] = [Math.ceil(scene.width), Math.ceil(scene.height)];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="graph" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escaped(picture.title)}</title>`,
    `<style>${style}</style>`,
    `<defs>${ARROW}</defs>`,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    ...scene.frames.map((frame) => drawing.frame(frame)),
    ...scene.edges.map((edge) => drawing.edge(edge)),
    ...scene.frames.map((frame) => drawing.header(frame)),
    ...scene.items.map((item) => drawing.item(item)),
    "</svg>\n",
  ].join("\n");
}
