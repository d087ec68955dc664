/** Axes that the properties of suites and tests tell. Other properties are not kept. */
import { AXES_MAX, type Axes, joinedAxes } from '../../domain/axes.ts';
import { environmentAxes, isOwnAxis, mayTellAxis } from '../environment.ts';
import type { XmlAttributes } from '../xml.ts';

/** More of one suite are not kept. */
const TOLD_MAX = 4 * AXES_MAX;

export class Properties {
  #told: Map<string, string> | null = null;
  readonly #around: Axes | undefined;
  #axes: Axes | undefined;

  /** @param around what holds for everything in the suite around this one */
  constructor(around?: Properties) {
    this.#around = around?.axes;
    this.#axes = this.#around;
  }

  /** A `<property>` of a suite. It holds for the tests after it. */
  add({ name = '', value = '' }: XmlAttributes): void {
    if (value === '' || !mayTellAxis(name)) return;
    this.#told ??= new Map();
    if (this.#told.has(name) || this.#told.size >= TOLD_MAX) return;
    this.#told.set(name, value);
    this.#axes = joinedAxes(environmentAxes(this.#told), this.#around);
  }

  /** A `<property>` of a test. Tests write down what they like, so only what is named an axis is one. */
  addOfTest(attributes: XmlAttributes): void {
    if (isOwnAxis(attributes.name ?? '')) this.add(attributes);
  }

  get axes(): Axes | undefined {
    return this.#axes;
  }
}
