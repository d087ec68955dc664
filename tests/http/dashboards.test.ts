/** The dashboard, the alert rules and the documented list of metrics name metrics that exist. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { IngestDriver } from '../support/ingest.ts';
import { readMetrics } from '../support/metrics.ts';
import { openTestStores } from '../support/stores.ts';

const ROOT = resolve(import.meta.dir, '../..');
const read = (file: string): string => readFileSync(resolve(ROOT, file), 'utf8');

/** Names of metrics in an expression. `up` comes from Prometheus. */
const metricsIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:ci_insights|process|nodejs)_\w+/g)].map(([name]) => name);

const alertsSchema = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z.array(
        z.object({
          alert: z.string().regex(/^CiInsights\w+$/),
          expr: z.string(),
          for: z
            .string()
            .regex(/^\d+[smh]$/)
            .optional(),
          labels: z.object({ severity: z.enum(['warning', 'critical']) }),
          annotations: z.object({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});
const panelSchema = z.object({
  title: z.string(),
  gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
  targets: z.array(z.object({ expr: z.string() })).default([]),
});
const dashboardSchema = z.object({ uid: z.literal('ci-insights'), panels: z.array(panelSchema) });

const rules = alertsSchema.parse(Bun.YAML.parse(read('docs/alerts.yaml'))).groups.flatMap((group) => group.rules);
const { panels } = dashboardSchema.parse(JSON.parse(read('docs/grafana-dashboard.json')));

let names: Set<string>;
let labels: Map<string, Set<string>>;
let samplesOf: (name: string) => string[];
beforeAll(async () => {
  const stores = await openTestStores();
  // A worker counts its jobs from 0 as soon as it runs.
  const driver = new IngestDriver(stores);
  const samples = await readMetrics(stores);
  await driver.stop();
  names = samples.names;
  samplesOf = (name) =>
    samples.text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  labels = new Map();
  for (const [, name = '', inner = ''] of samples.text.matchAll(/^(\w+)\{(.*)\} /gm)) {
    const known = labels.get(name) ?? new Set();
    for (const [, label = ''] of inner.matchAll(/(\w+)="/g)) known.add(label);
    labels.set(name, known);
  }
});

describe('the alert rules', () => {
  test('use metrics that the service exposes', () => {
    expect(rules.length).toBeGreaterThan(10);
    for (const { alert, expr } of rules) {
      const used = metricsIn(expr);
      if (alert !== 'CiInsightsDown') expect([alert, used.length > 0]).toEqual([alert, true]);
      for (const name of used) expect([alert, name, names.has(name)]).toEqual([alert, name, true]);
    }
  });

  test('group and filter by labels that those metrics have', () => {
    const ofPrometheus = ['job', 'instance', 'le'];
    for (const { alert, expr } of rules) {
      const known = new Set([...ofPrometheus, ...metricsIn(expr).flatMap((name) => [...(labels.get(name) ?? [])])]);
      // Metrics that have counted nothing yet have no labels.
      if (metricsIn(expr).some((name) => !labels.has(name))) continue;
      const grouped = [...expr.matchAll(/\b(?:by|on) \(([\w, ]+)\)/g)].flatMap(([, list = '']) => list.split(/, */));
      const selected = [...expr.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label);
      for (const label of [...grouped, ...selected])
        expect([alert, label, known.has(label)]).toEqual([alert, label, true]);
    }
  });

  test('count from 0: the first of its kind is an increase', () => {
    const counted = rules.flatMap(({ expr }) => [...expr.matchAll(/increase\((\w+)/g)].map(([, name = '']) => name));
    expect(counted.length).toBeGreaterThan(2);
    for (const name of counted) expect([name, samplesOf(name).length > 0]).toEqual([name, true]);
  });

  test('say what to do about each alert, and balance their brackets', () => {
    for (const { alert, expr, annotations } of rules) {
      expect([alert, annotations.description.length > 20]).toEqual([alert, true]);
      for (const [open, close] of ['()', '{}', '[]'])
        expect([alert, expr.split(open ?? '').length]).toEqual([alert, expr.split(close ?? '').length]);
    }
  });
});

describe('the dashboard', () => {
  test('uses metrics that the service exposes', () => {
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(expressions.length).toBeGreaterThan(20);
    for (const expression of expressions) {
      expect([expression, metricsIn(expression).length > 0]).toEqual([expression, true]);
      for (const name of metricsIn(expression)) expect([name, names.has(name)]).toEqual([name, true]);
    }
  });

  test('has no overlapping panels', () => {
    const taken = new Set<string>();
    for (const { title, gridPos } of panels)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect([title, x, y, x < 24 && !taken.has(`${x} ${y}`)]).toEqual([title, x, y, true]);
          taken.add(`${x} ${y}`);
        }
  });
});

test('the documentation explains every metric of the service, and no other', () => {
  const documented = new Set(
    [...read('docs/operations.md').matchAll(/^\| `(ci_insights_\w+)`/gm)].map(([, name = '']) => name),
  );
  const shown = new Set(
    [...names]
      .filter((name) => name.startsWith('ci_insights_'))
      .map((name) => name.replace(/_(?:bucket|sum|count)$/, '')),
  );
  expect([...documented].sort()).toEqual([...shown].sort());
});
