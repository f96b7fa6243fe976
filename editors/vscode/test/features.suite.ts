// One folder, trusted, with the user's own interpreter.
import "./features.test";
import "./fixes.test";
import "./picks.test";
import "./status.test";
import "./server.test";
import "./crashes.test";
import "./oneAtATime.test";
export { run } from "./run";
