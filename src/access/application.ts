/** The application key in use, as its holder may see it. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { accountIdOf } from '../domain/identity.ts';
import { KEY_SCOPES } from '../domain/key-scope.ts';
import { type Http, mount } from '../http/operation.ts';
import { forbidden } from '../http/problems.ts';

const application = z.object({
  id: z.guid().meta({ example: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
  name: z.string().meta({ example: 'main pipeline' }),
  scope: z.enum(KEY_SCOPES).meta({ example: 'ci' }),
  account_scope: z
    .object({
      id: z.int().meta({
        description: "Stable id of the owner in this service, not the host's; 0 means every owner",
        example: 43_197_199_061_629,
      }),
      login: z.string().meta({ description: 'The owner; `*` means every owner', example: 'acme' }),
      repositories: z
        .array(z.string())
        .nullable()
        .meta({ description: "Null means all of the owner's repositories", example: ['shop'] }),
    })
    .meta({ description: 'The repositories that the key is for' }),
});

export function mountApplication(app: AnyElysia, http: Http): void {
  mount(app, http, 'GET', '/v1/application', {
    operationId: 'getApplication',
    tag: 'Service',
    summary: 'Get the application key in use',
    description: 'The name, the scope and the repositories of the key that this request sends.',
    access: 'credential',
    responses: { 200: { description: 'The key in use.', schema: application } },
    handle: ({ credential }) => {
      const key = credential?.application;
      if (!key) throw forbidden('This credential is not an application key: send a key to have it described.');
      const { id, name, scope, owner, repositories } = key;
      const account = owner === null ? { id: 0, login: '*' } : { id: accountIdOf(owner), login: owner };
      return { body: { id, name, scope, account_scope: { ...account, repositories } } };
    },
  });
}
