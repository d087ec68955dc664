/**
 * Lets identical concurrent reads share one run. A caller never gets the result of a run that began before it asked: it
 * joins the next one, so that a client that was told "stored" sees what it stored. This is not a cache: a result is
 * kept only for those who wait. A run is aborted when all callers that waited for it have gone.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, { running: Promise<T>; next: Next<T> | undefined }>();

  /**
   * Runs `start`, or joins the run under this key that has not begun yet.
   *
   * @param start its signal is aborted when no caller waits any more
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

/** The callers that wait for a run. None is added once it has begun. */
class Callers {
  #waiting = 0;
  #hasBegun = false;
  readonly #abandoned = new AbortController();

  add(caller: AbortSignal): void {
    this.#waiting++;
    const leave = (): void => {
      this.#waiting--;
      this.#abandonIfAlone();
    };
    caller.addEventListener('abort', leave, { once: true });
  }

  /** The signal of the run that begins now: aborted when the last caller has gone. */
  begin(): AbortSignal {
    this.#hasBegun = true;
    this.#abandonIfAlone();
    return this.#abandoned.signal;
  }

  #abandonIfAlone(): void {
    if (this.#hasBegun && this.#waiting === 0) this.#abandoned.abort();
  }
}
