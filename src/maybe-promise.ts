/**
 * Values that are at hand or on their way. A read that is answered from memory would spend a quarter of its time waiting for
 * promises that are settled; where every step is at hand, it is served without one.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Goes on with a value: at once when it is at hand. */
export const andThen = <T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> =>
  value instanceof Promise ? value.then(next) : next(value);

/** Like `try` and `catch`, for what throws at once as for what rejects later. */
export function orElse<T>(run: () => MaybePromise<T>, recover: (error: unknown) => T): MaybePromise<T> {
  try {
    const value = run();
    return value instanceof Promise ? value.catch(recover) : value;
  } catch (error) {
    return recover(error);
  }
}
