/** Cuts a list, in its order, into pieces that fit into a statement or a request: of at most so many. */
export function* piecesOf<T>(list: readonly T[], most: number): Generator<T[], void> {
  for (let from = 0; from < list.length; from += most) yield list.slice(from, from + most);
}
