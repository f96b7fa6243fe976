// A workspace of two folders, each with an interpreter, beside the Python extension.
import "./folders.test";
export { run } from "./run";
