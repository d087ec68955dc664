/** The kinds of CI that need no key for a repository, beside the rights that their jobs get there. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { CI_KINDS } from '../../src/domain/ci-claims.ts';
import { ciKindsFor, grantOfJob, parseCiRules } from '../../src/domain/ci-rules.ts';

const part = fc.constantFrom('acme', 'Acme', 'shop', 'api', 'web');
const path = fc.array(part, { minLength: 2, maxLength: 3 }).map((parts) => parts.join('/'));
const kind = fc.constantFrom(...CI_KINDS);
const who = fc.oneof(part, path);
const place = fc.oneof(
  fc.constant('*'),
  part,
  fc.tuple(part, part).map(([owner, name]) => `${owner}/${name}`),
);
const rule = fc.tuple(kind, who, place).map(([issuer, from, where]) => `${issuer}:${from} upload ${where}`);
const issuers = CI_KINDS.map((name) => ({ name, kind: name, url: `https://${name}.example` }));

test('wherever a job gets something, its kind is among those of the repository', () => {
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), kind, path, (texts, issuer, from) => {
      const rules = parseCiRules(texts.join('; ')) ?? [];
      const run = { branch: 'main', commit: null, pull_request: null, base_ref: null };
      const job = {
        path: from,
        isForPullRequest: false,
        isOfItsRef: true,
        ofRef: run,
        otherwise: run,
        onceOnly: undefined,
      };
      const grant = grantOfJob(rules, issuer, job, {});
      if (grant) expect(ciKindsFor(issuers, rules, grant.repository)).toContain(issuer);
    }),
  );
});

test('a kind of which no rule names the repository is not among them', () => {
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 4 }), (texts) => {
      const rules = parseCiRules(texts.join('; ')) ?? [];
      expect(ciKindsFor(issuers, rules, { owner: 'elsewhere', name: 'shop' })).toEqual([]);
      for (const found of ciKindsFor(issuers, rules, { owner: 'acme', name: 'shop' }))
        expect(texts.some((text) => text.startsWith(`${found}:`))).toBe(true);
    }),
  );
});
