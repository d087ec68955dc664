/** Where a repository is hosted, and links to it: what uploads and tokens say leads to this repository or nowhere. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { linkTo } from '../../src/domain/host-link.ts';
import { HOST_KINDS, HOST_SOURCES, hostPageSchema, overrulesHost } from '../../src/domain/host-page.ts';
import { hostOfIssuer, hostOfJob, linksOf } from '../../src/hosts/pages.ts';
import { fillTemplate } from '../../web/ui/host-link.ts';

const SHOP = { owner: 'acme', name: 'shop' };

describe('the page of a repository, from the address of a job', () => {
  test.each([
    ['https://github.com/acme/shop/actions/runs/1/job/2', 'github', 'https://github.com/acme/shop'],
    ['https://ghe.acme.io/Acme/Shop/actions/runs/1', 'github', 'https://ghe.acme.io/Acme/Shop'],
    ['https://gitlab.com/acme/shop/-/jobs/7', 'gitlab', 'https://gitlab.com/acme/shop'],
    ['http://10.0.0.1:8080/git/acme/shop/-/jobs/7', 'gitlab', 'http://10.0.0.1:8080/git/acme/shop'],
  ] as const)('%s: %s, %s', (jobUrl, kind, url) => {
    expect(hostOfJob(jobUrl, SHOP)).toEqual({ kind, url });
  });

  test('of groups within groups is known by the name that the client gives them', () => {
    const page = hostOfJob('https://gitlab.com/acme/web/shop/-/jobs/7', { owner: 'acme', name: 'web.shop' });
    expect(page?.url).toBe('https://gitlab.com/acme/web/shop');
  });

  test.each([
    'https://github.com/other/shop/actions/runs/1',
    'https://github.com/acme/shop-evil/actions/runs/1',
    'https://ann:secret@github.com/acme/shop/actions/runs/1',
    'https://evil.example/?to=/acme/shop/actions/runs/1',
    'javascript:alert(1)//acme/shop/actions/runs/1',
    'https://ci.example.com/acme/shop/runs/1',
    '',
    null,
  ])('is not told by %p', (jobUrl) => {
    expect(hostOfJob(jobUrl, SHOP)).toBeUndefined();
  });

  test('ends with the path of the repository, whatever is sent', () => {
    const part = fc.constantFrom(
      'acme',
      'shop',
      'ACME',
      '/',
      '-',
      'jobs',
      'actions/runs/',
      '@',
      '?',
      '#',
      '{commit}',
      '%2f',
      '\\',
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), fc.constantFrom('/actions/runs/1', '/-/jobs/1'), (parts, mark) => {
        const page = hostOfJob(`https://host.example/${parts.join('')}${mark}`, SHOP);
        if (!page) return;
        expect(hostPageSchema.safeParse(page).success).toBe(true);
        expect(page.url.toLowerCase()).toEndWith('/acme/shop');
        expect(page.url).toStartWith('https://host.example/');
      }),
    );
  });
});

test.each([
  ['github', 'https://token.actions.githubusercontent.com', 'https://github.com/acme/shop'],
  ['github', 'https://token.actions.githubusercontent.com/acme-corp', 'https://github.com/acme/shop'],
  ['github', 'https://token.actions.acme.ghe.com', 'https://acme.ghe.com/acme/shop'],
  ['github', 'https://ghe.acme.io/_services/token', 'https://ghe.acme.io/acme/shop'],
  ['gitlab', 'https://gitlab.acme.io/', 'https://gitlab.acme.io/acme/shop'],
  ['github', 'https://ci.acme.io', undefined],
  ['buildkite', 'https://agent.buildkite.com', undefined],
])('a token of %s signed by %s leads to %p', (kind, url, page) => {
  expect(hostOfIssuer({ kind, url }, 'acme/shop', SHOP)?.url).toBe(page as string);
});

test('an upload says it once; what is stronger overrules what is weaker', () => {
  for (const source of HOST_SOURCES) {
    expect(overrulesHost(source, null)).toBe(true);
    expect(overrulesHost('upload', source)).toBe(false);
    expect(overrulesHost('setting', source)).toBe(true);
  }
  expect(overrulesHost('webhook', 'setting')).toBe(false);
  expect(overrulesHost('identity_token', 'webhook')).toBe(false);
});

const text = fc.oneof(
  fc.string({ minLength: 1, unit: 'binary' }).filter((value) => value.isWellFormed()),
  fc.array(fc.constantFrom('..', '.', 'src', ''), { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/')),
);
const values = fc.record({ commit: text, from: text, to: text, path: text, line: fc.nat(), number: fc.nat() });

test('a link stays below the page of the repository, whatever it links to', () => {
  fc.assert(
    fc.property(fc.constantFrom(...HOST_KINDS), values, (kind, given) => {
      const url = 'https://host.example/acme/shop';
      for (const template of Object.values(linksOf({ kind, url }))) {
        const link = linkTo(template, given);
        expect(fillTemplate(template, given)).toBe(link as string);
        if (link === undefined) continue;
        expect(new URL(link).href).toStartWith(`${url}/`);
        expect(link).not.toMatch(/[\s"'<>{}\\]/);
        // A query is that of the template.
        expect(link.split('?').length).toBe(template.split('?').length);
      }
    }),
  );
});

test('without a value there is no link', () => {
  for (const fill of [linkTo, fillTemplate]) {
    expect(fill('https://host/{from}...{to}', { from: 'a' })).toBeUndefined();
    expect(fill('https://host/{path}#L{line}', { path: 'src/a b.ts', line: 3 })).toBe('https://host/src/a%20b.ts#L3');
  }
});
