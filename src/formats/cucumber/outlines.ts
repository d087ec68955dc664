/** Names of scenarios, from the features that hold them. */
import { z } from 'zod';
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { JSON_PARTS_MAX } from '../../domain/limits.ts';
import { UploadTooLarge } from '../errors.ts';
import { TOO_LONG_NAME } from '../report.ts';
import type { Messages } from './messages.ts';

const text = z.string().default('');
const items = z.array(z.unknown()).default([]);
const childSchema = z.object({
  scenario: z.object({ id: z.string(), name: text, examples: items }).optional(),
  rule: z.object({ name: text, children: items }).optional(),
});
const tableSchema = z.object({ tableHeader: z.object({ cells: items }).nullish(), tableBody: items });
const rowSchema = z.object({ id: z.string(), cells: items });
const cellSchema = z.object({ value: z.string() });

interface Scenario {
  feature: string;
  rule: string;
  name: string;
}

export interface PickleNames {
  feature: string;
  /** With the rule around it and the row of its outline. */
  scenario: string;
}

/** The parts of features and of test cases that may be looked at. */
export class PartCount {
  #count = 0;

  add(): void {
    if (++this.#count > JSON_PARTS_MAX) throw new UploadTooLarge(UPLOAD_LIMITS.JSON_PARTS_MAX.sentence('report'));
  }
}

export class Outlines {
  readonly #scenarios = new Map<string, Scenario>();
  /** The row as text, such as `count=1, expected=2`. */
  readonly #rows = new Map<string, string>();

  constructor(private readonly parts: PartCount) {}

  read({ uri, feature }: Messages['gherkinDocument']): void {
    if (feature) this.#readChildren(feature.children, { feature: cutName(feature.name || uri), rule: '' });
  }

  #readChildren(children: readonly unknown[], around: Omit<Scenario, 'name'>): void {
    for (const child of children) {
      this.parts.add();
      const { scenario, rule } = childSchema.safeParse(child).data ?? {};
      // A rule holds no rules.
      if (rule && around.rule === '') this.#readChildren(rule.children, { ...around, rule: cutName(rule.name) || '-' });
      if (!scenario) continue;
      this.#scenarios.set(scenario.id, { ...around, name: cutName(scenario.name) });
      for (const table of scenario.examples) this.#readTable(table, scenario.name);
    }
  }

  #readTable(table: unknown, outline: string): void {
    this.parts.add();
    const { tableHeader, tableBody = [] } = tableSchema.safeParse(table).data ?? {};
    const columns = this.#valuesOf(tableHeader?.cells ?? []);
    // A cell in the name of the outline stands in the name of its test.
    const shown = columns.map((column) => !outline.includes(`<${column}>`));
    for (const one of tableBody) {
      this.parts.add();
      const row = rowSchema.safeParse(one).data;
      if (!row) continue;
      const cells = this.#valuesOf(row.cells).flatMap((value, i) => (shown[i] ? [`${columns[i]}=${value}`] : []));
      this.#rows.set(row.id, cutName(cells.join(', ')));
    }
  }

  #valuesOf(cells: readonly unknown[]): string[] {
    return cells.map((cell) => {
      this.parts.add();
      return cellSchema.safeParse(cell).data?.value ?? '';
    });
  }

  /** A pickle is a scenario, or an outline with one of its rows. */
  namesOf({ uri, name, astNodeIds }: Messages['pickle']): PickleNames {
    const [scenarioId, rowId] = astNodeIds.slice(0, 2).map(String);
    const { feature = uri, rule = '' } = this.#scenarios.get(scenarioId ?? '') ?? {};
    const row = this.#rows.get(rowId ?? '') ?? '';
    const own = row === '' ? name : `${name} (${row})`;
    return { feature, scenario: cutName(rule === '' ? own : `${rule} - ${own}`) };
  }
}

const cutName = (name: string): string => name.slice(0, TOO_LONG_NAME);
