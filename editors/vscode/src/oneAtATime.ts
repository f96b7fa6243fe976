// Work that must never run twice at once, and need not run more than once for many who ask meanwhile.

export class OneAtATime {
  private running: Promise<void> | undefined;
  private again: Promise<void> | undefined;

  constructor(private readonly work: () => Promise<void>) {}

  /** Resolves when work that began after this call is done. */
  run(): Promise<void> {
    if (this.running === undefined) return this.begin();
    this.again ??= this.running.then(() => {
      this.again = undefined;
      return this.begin();
    });
    return this.again;
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    while (this.running !== undefined) await (this.again ?? this.running);
  }

  private begin(): Promise<void> {
    const ended = this.work().catch(() => undefined);
    const running = ended.then(() => {
      if (this.running === running) this.running = undefined;
    });
    this.running = running;
    return running;
  }
}
