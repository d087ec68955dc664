/** Whom the rules of `OIDC_ACCESS` let in, and what a configuration of the identity provider must hold. */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { readConfig, secretsOf } from '../../src/config.ts';
import { grantOfPerson, parseSignInRules } from '../../src/domain/sign-in-rules.ts';
import { makeFolder } from '../support/folder.ts';

const RULES =
  'group:Platform Team admin *; email:Ann@Example.com ci acme/shop; domain:example.com view acme; group:qa view *';
const rules = parseSignInRules(RULES) ?? [];
const grantOf = (email: string | undefined, ...groups: string[]) => grantOfPerson(rules, { email, groups });

describe('rules', () => {
  test('let in whom they name, and the first one decides', () => {
    expect(grantOf(undefined, 'qa', 'Platform Team')).toEqual({ scope: 'admin', owner: null, repositories: null });
    expect(grantOf('ann@EXAMPLE.com', 'qa')).toEqual({ scope: 'ci', owner: 'acme', repositories: ['shop'] });
    expect(grantOf('bob@example.com', 'qa')).toEqual({ scope: 'view', owner: 'acme', repositories: null });
    expect(grantOf('bob@elsewhere.example', 'qa')).toEqual({ scope: 'view', owner: null, repositories: null });
  });

  test('let in no one whom they do not name', () => {
    for (const email of [
      undefined,
      'bob@sub.example.com',
      'bob@notexample.com',
      'bob@example.com.evil.example',
      'bob@example.com@evil.example',
      'example.com',
      '',
    ])
      expect([email, grantOf(email)]).toEqual([email, undefined]);
    expect(grantOf(undefined, 'platform team', 'Platform', 'example.com', 'domain:example.com')).toBeUndefined();
    expect(grantOfPerson([], { email: 'ann@example.com', groups: ['Platform Team'] })).toBeUndefined();
  });

  test('let in no one without an address and groups, whatever they say', () => {
    const word = fc.stringMatching(/^[a-z.]{1,10}$/);
    const rule = fc.tuple(fc.constantFrom('group', 'domain'), word, fc.constantFrom('ci', 'view', 'admin'));
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 5 }), (parts) => {
        const parsed = parseSignInRules(parts.map(([kind, name, scope]) => `${kind}:${name} ${scope} acme`).join(';'));
        expect(parsed).toHaveLength(parts.length);
        expect(grantOfPerson(parsed ?? [], { email: undefined, groups: [] })).toBeUndefined();
      }),
    );
  });

  test('of a domain ask for the organisation that manages the account, where the provider tells', () => {
    const ann = { email: 'bob@example.com', groups: [] };
    for (const hostedDomain of [undefined, 'example.com', 'Example.COM'])
      expect([hostedDomain, grantOfPerson(rules, { ...ann, hostedDomain })?.scope]).toEqual([hostedDomain, 'view']);
    for (const hostedDomain of [null, '', 'evil.example'])
      expect([hostedDomain, grantOfPerson(rules, { ...ann, hostedDomain })]).toEqual([hostedDomain, undefined]);
    expect(grantOfPerson(rules, { email: undefined, groups: [], hostedDomain: 'example.com' })).toBeUndefined();
    expect(grantOfPerson(rules, { email: 'ann@example.com', groups: [], hostedDomain: null })?.scope).toBe('ci');
  });

  test.each([
    '',
    ';',
    'everyone view acme',
    'group: view acme',
    'group:qa look acme',
    'group:qa view',
    'group:qa view acme/shop/more',
    'group:qa view not an owner',
    'group:qa view a_b',
    'domain:ann@example.com view acme',
    'domain:example com view acme',
    'email:example.com view acme',
    'group:qa view acme; nonsense',
  ])('are refused as a whole if one is malformed: %p', (text) => {
    expect(parseSignInRules(text)).toBeUndefined();
  });
});

describe('the configuration of the identity provider', () => {
  const whole = {
    OIDC_ISSUER: 'https://id.example.com',
    OIDC_CLIENT_ID: 'ci-insights',
    OIDC_CLIENT_SECRET: 'a-secret-of-the-client',
    OIDC_ACCESS: RULES,
    PUBLIC_URL: 'https://ci.example.com',
  };
  const refusalOf = (change: Record<string, string>): string => {
    try {
      readConfig({ ...whole, ...change });
    } catch (error) {
      return String(error);
    }
    return 'accepted';
  };

  test('is off without an issuer, and keeps the secret out of the log', () => {
    expect(readConfig({}).oidc).toBeUndefined();
    const config = readConfig(whole);
    expect(config.oidc).toEqual({
      issuer: 'https://id.example.com',
      clientId: 'ci-insights',
      clientSecret: 'a-secret-of-the-client',
      rules,
      scopes: 'openid profile email',
      groupsClaim: 'groups',
      tenants: [],
      audiences: ['https://ci.example.com/mcp'],
      hasHostedDomains: false,
    });
    expect(secretsOf(config)).toContain('a-secret-of-the-client');
  });

  test('takes access tokens for itself, or for the audiences named, but never those that are for signing in', () => {
    expect(readConfig({ ...whole, OIDC_AUDIENCE: 'api://a, b' }).oidc?.audiences).toEqual(['api://a', 'b']);
    expect(refusalOf({ OIDC_AUDIENCE: 'api://a,ci-insights' })).toContain('must not be OIDC_CLIENT_ID');
  });

  test('takes the secret from a file, without the end of its line', () => {
    const file = join(makeFolder('secret'), 'client');
    writeFileSync(file, 'a-secret-of-a-file\n');
    const { oidc } = readConfig({ ...whole, OIDC_CLIENT_SECRET: '', OIDC_CLIENT_SECRET_FILE: file });
    expect(oidc?.clientSecret).toBe('a-secret-of-a-file');
    expect(refusalOf({ OIDC_CLIENT_SECRET_FILE: file })).toContain('not both');
    expect(refusalOf({ OIDC_CLIENT_SECRET: '', OIDC_CLIENT_SECRET_FILE: `${file}.nope` })).toContain('cannot be read');
    writeFileSync(file, '\n');
    expect(refusalOf({ OIDC_CLIENT_SECRET: '', OIDC_CLIENT_SECRET_FILE: file })).toContain('is empty');
  });

  test.each(['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ACCESS', 'PUBLIC_URL'])('is refused without %s', (name) => {
    expect(refusalOf({ [name]: '' })).toContain(`OIDC_ISSUER needs ${name}`);
  });

  test('is refused if it would send the secret over a network without TLS, or ask for no person', () => {
    expect(refusalOf({ OIDC_ISSUER: 'http://id.example.com' })).toContain('must begin with https://');
    expect(refusalOf({ OIDC_SCOPES: 'email profile' })).toContain('openid among them');
    expect(refusalOf({ OIDC_ACCESS: 'everyone' })).toContain('must be rules separated by semicolons');
    expect(refusalOf({ OIDC_ISSUER: '' })).toContain('needs OIDC_ISSUER');
  });

  const TENANT = '9188040d-6c67-4c5b-b112-36a304b66dad';

  test.each([
    'https://login.microsoftonline.com/organizations/v2.0',
    'https://login.microsoftonline.com/common/v2.0',
    'https://LOGIN.microsoftonline.com/Common/v2.0/',
    'https://login.microsoftonline.com/consumers/v2.0',
    'https://login.microsoftonline.com/{tenantid}/v2.0',
    'https://login.microsoftonline.com/%7Btenantid%7D/v2.0',
    'https://login.microsoftonline.com',
    'https://login.microsoftonline.us/organizations/v2.0',
    'https://login.partner.microsoftonline.cn/common/v2.0',
    'https://sts.windows.net/common/',
    'https://id.example.com/{tenant}/v2.0',
  ])('is refused for %s, which speaks for many tenants, unless they are named', (issuer) => {
    expect(refusalOf({ OIDC_ISSUER: issuer })).toContain('name those that may sign in with OIDC_TENANTS');
    const { oidc } = readConfig({ ...whole, OIDC_ISSUER: issuer, OIDC_TENANTS: `${TENANT.toUpperCase()}, ${TENANT}` });
    expect(oidc?.tenants).toEqual([TENANT, TENANT]);
  });

  test('is taken for an issuer of one tenant, and knows the provider with accounts that no organisation manages', () => {
    const hosted = (issuer: string) => readConfig({ ...whole, OIDC_ISSUER: issuer }).oidc?.hasHostedDomains;
    expect(hosted(`https://login.microsoftonline.com/${TENANT}/v2.0`)).toBe(false);
    expect(hosted('https://id.example.com/common')).toBe(false);
    expect(hosted('https://accounts.google.com')).toBe(true);
    expect(refusalOf({ OIDC_TENANTS: 'acme' })).toContain('must be ids of tenants');
  });
});
