/** Which of some numbered things are joined, also through others (union-find). */
export class Components {
  readonly #parents: number[];

  constructor(size: number) {
    this.#parents = Array.from({ length: size }, (_, index) => index);
  }

  /** A copy with so many more things, joined to nothing. */
  grownBy(size: number): Components {
    const grown = new Components(this.#parents.length + size);
    this.#parents.forEach((parent, index) => {
      grown.join(parent, index);
    });
    return grown;
  }

  /** The thing that stands for all that are joined to this one: the one of the smallest number. */
  rootOf(index: number): number {
    let root = index;
    for (let parent = this.#parents[root]; parent !== undefined && parent !== root; parent = this.#parents[root])
      root = parent;
    for (let at = index; at !== root; ) {
      const next = this.#parents[at] ?? root;
      this.#parents[at] = root;
      at = next;
    }
    return root;
  }

  join(one: number, other: number): void {
    const [first, second] = [this.rootOf(one), this.rootOf(other)];
    if (first !== second) this.#parents[Math.max(first, second)] = Math.min(first, second);
  }
}
