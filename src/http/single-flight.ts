/**
 * Identical concurrent reads share one run. A caller never gets the result of a run that had begun before it asked: it
 * joins the next one, so that whoever was told "stored" sees it. There is no cache: nothing is kept when nobody waits.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, { running: Promise<T>; next: Promise<T> | undefined }>();

  /** Runs `start`, or joins the run under this key that has not begun yet. */
  run(key: string, start: () => Promise<T>): Promise<T> {
    const flight = this.#flights.get(key);
    if (!flight) return this.#begin(key, start);
    flight.next ??= flight.running.then(
      () => this.#begin(key, start),
      () => this.#begin(key, start),
    );
    return flight.next;
  }

  #begin(key: string, start: () => Promise<T>): Promise<T> {
    const running = start();
    const flight = { running, next: undefined };
    this.#flights.set(key, flight);
    const forget = (): void => {
      if (this.#flights.get(key) === flight && flight.next === undefined) this.#flights.delete(key);
    };
    running.then(forget, forget);
    return running;
  }
}
