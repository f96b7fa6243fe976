// What happens after a crash of the server.
import {
  CloseAction,
  type CloseHandlerResult,
  ErrorAction,
  type ErrorHandler,
  type ErrorHandlerResult,
} from "vscode-languageclient/node";

/** How often within `PERIOD` a server that crashed is started again. */
const RESTARTS = 4;
/** In milliseconds. */
const PERIOD = 180_000;

/**
 * Starts a server that crashed again, unless it crashes all the time.
 *
 * The handler of vscode-languageclient (11.0.0) stops the client for good at the first message that cannot be written:
 * where the server has just crashed, whether that comes before the end of the connection is a matter of chance.
 */
export class StartsAgain implements ErrorHandler {
  private crashes: number[] = [];

  /** `now` gives the time in milliseconds. */
  constructor(private readonly now: () => number = Date.now) {}

  /** A message that was lost. The end of the connection follows, where that is the reason. */
  error(): ErrorHandlerResult {
    return { action: ErrorAction.Continue, handled: true };
  }

  closed(): CloseHandlerResult {
    const now = this.now();
    this.crashes = [...this.crashes.filter((time) => now - time <= PERIOD), now];
    if (this.crashes.length <= RESTARTS) return { action: CloseAction.Restart };
    const message = `The server of fxlsp crashed ${this.crashes.length} times in three minutes: it is not started again.`;
    return { action: CloseAction.DoNotRestart, message };
  }
}
