// A workspace that nobody trusts at first, beside both Python extensions.
import "./trust.test";
export { run } from "./run";
