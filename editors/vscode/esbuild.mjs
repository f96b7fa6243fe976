// Bundles the extension, and its tests when asked for them: `node esbuild.mjs [--tests] [--minify]`.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  minify: process.argv.includes("--minify"),
  // Else esbuild takes the browser's half of some packages.
  conditions: ["node"],
  mainFields: ["main", "module"],
  logLevel: "warning",
};

const { metafile } = await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  metafile: true,
});
writeFileSync("dist/THIRD-PARTY.txt", licences(Object.keys(metafile.inputs)));
if (process.argv.includes("--tests")) {
  const suites = readdirSync("test").filter((name) => name.endsWith(".suite.ts"));
  await build({ ...common, entryPoints: suites.map((name) => `test/${name}`), outdir: "dist/test" });
  for (const beside of ["ms-python.python", "ms-python.vscode-python-envs"].map((name) => `test/beside/${name}`)) {
    await build({ ...common, entryPoints: [`${beside}/extension.ts`], outfile: `${beside}/dist/extension.js` });
  }
}

/** The licences of the packages that are in the bundle. */
function licences(files) {
  const packages = new Set(files.flatMap((file) => file.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/) ?? []));
  return [...packages].sort().map(licence).join("\n");
}

function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf-8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? license : readFileSync(`${folder}/${file}`, "utf-8");
  return `${name} ${version} (${license})\n\n${text}\n`;
}
