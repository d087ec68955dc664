/** Closes what test files opened for the whole run, when the last file has ended. */
const closers: (() => Promise<void>)[] = [];

export const atEnd = (close: () => Promise<void>): void => void closers.push(close);

/** In reverse order of opening. Called once, by the preload. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}
