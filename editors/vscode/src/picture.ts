// What a page of the graph draws, as far as it matters outside of it.

export interface SourcePlace {
  file: string;
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

interface Item {
  name: string;
  place?: (Omit<SourcePlace, "file"> & { file: number }) | null;
}

export interface Picture {
  files: string[];
  nodes: Item[];
}

const START = '<script type="application/json" id="picture">';

/** The picture in a page. */
export function pictureOf(page: string): Picture {
  const start = page.indexOf(START) + START.length;
  return JSON.parse(page.slice(start, page.indexOf("</script>", start))) as Picture;
}

/** Where a node's expression stands; undefined where the node or its place is not known. */
export function placeOfNode({ files, nodes }: Picture, name: string): SourcePlace | undefined {
  const place = nodes.find((node) => node.name === name)?.place;
  const file = place ? files[place.file] : undefined;
  return place && file !== undefined ? { ...place, file } : undefined;
}

/** Whether two pictures look the same. Where their lines stand in the source by now is not seen. */
export function sameDrawing(one: Picture, other: Picture): boolean {
  return withoutPlaces(one) === withoutPlaces(other);
}

/** The keys under which places are kept. */
const PLACES = new Set(["place", "forward", "made"]);

function withoutPlaces(picture: Picture): string {
  return JSON.stringify(picture, (key, value: unknown) => (PLACES.has(key) ? undefined : value));
}
