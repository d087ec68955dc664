/**
 * Identical concurrent reads share one run. A caller never gets the result of a run that had begun before it asked: it
 * joins the next one, so that whoever was told "stored" sees it. There is no cache: nothing is kept when nobody waits.
 * A run is aborted when everybody who waited for it has gone.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, { running: Promise<T>; next: Next<T> | undefined }>();

  /**
   * Runs `start`, or joins the run under this key that has not begun yet.
   *
   * @param start told by its signal that nobody waits any more
   * @param caller aborted when the caller has gone
   */
  run(key: string, start: (signal: AbortSignal) => Promise<T>, caller: AbortSignal): Promise<T> {
    const flight = this.#flights.get(key);
    const callers = flight?.next?.callers ?? new Callers();
    callers.add(caller);
    if (!flight) return this.#begin(key, callers, start);
    if (!flight.next) {
      const begin = (): Promise<T> => this.#begin(key, callers, start);
      flight.next = { callers, answer: flight.running.then(begin, begin) };
    }
    return flight.next.answer;
  }

  #begin(key: string, callers: Callers, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const running = start(callers.begin());
    const flight = { running, next: undefined };
    this.#flights.set(key, flight);
    const forget = (): void => {
      if (this.#flights.get(key) === flight && flight.next === undefined) this.#flights.delete(key);
    };
    running.then(forget, forget);
    return running;
  }
}

interface Next<T> {
  callers: Callers;
  answer: Promise<T>;
}

/** Who waits for a run. Nobody is added once it has begun. */
class Callers {
  #waiting = 0;
  #hasBegun = false;
  readonly #abandoned = new AbortController();

  add(caller: AbortSignal): void {
    this.#waiting++;
    const leave = (): void => {
      this.#waiting--;
      this.#look();
    };
    caller.addEventListener('abort', leave, { once: true });
  }

  /** Of the run that begins now: aborted when the last caller has gone. */
  begin(): AbortSignal {
    this.#hasBegun = true;
    this.#look();
    return this.#abandoned.signal;
  }

  #look(): void {
    if (this.#hasBegun && this.#waiting === 0) this.#abandoned.abort();
  }
}
