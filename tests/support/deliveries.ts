/**
 * Deliveries of GitLab, Gitea, Forgejo and Bitbucket, written by hand after the documentation of each, and signed as the host
 * signs them.
 */
import { createHmac } from 'node:crypto';
import type { HostKindName } from '../../src/domain/host-page.ts';

export const SECRET = 'a secret of the tests only';
/** `whsec_` and a key in base64, as GitLab shows it. */
export const SIGNING_TOKEN = `whsec_${Buffer.from('a signing key of thirty-two bytes').toString('base64')}`;

const hmac = (body: string, secret: string): string => createHmac('sha256', secret).update(body).digest('hex');

/** The headers of a delivery of this type. */
export const HEADERS: Record<
  Exclude<HostKindName, 'github'>,
  (event: string, body: string, secret?: string) => Record<string, string>
> = {
  gitlab: (event, _body, secret = SECRET) => ({
    'x-gitlab-event': event,
    'x-gitlab-event-uuid': '13792a34-cac6-4fda-95a8-c58e00a3954e',
    'x-gitlab-token': secret,
  }),
  gitea: (event, body, secret = SECRET) => ({
    'x-gitea-event': event,
    'x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead473',
    'x-gitea-signature': hmac(body, secret),
  }),
  'bitbucket-cloud': (event, body, secret = SECRET) => ({
    'x-event-key': event,
    'x-request-uuid': '12cd5a3b-9fbb-4f1b-8d34-a9e1d0d4b3e1',
    'x-hub-signature': `sha256=${hmac(body, secret)}`,
  }),
  'bitbucket-data-center': (event, body, secret = SECRET) => ({
    'x-event-key': event,
    'x-request-id': '8f4e62b1-6b4f-4a3c-9c55-90f9e43ca1d5',
    'x-hub-signature': `sha256=${hmac(body, secret)}`,
  }),
};

/** The headers of a delivery that GitLab signs with {@link SIGNING_TOKEN}. */
export function signedByGitlab(event: string, body: string, token = SIGNING_TOKEN): Record<string, string> {
  const [id, time] = ['msg_1', '1795000000'];
  const key = Buffer.from(token.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
  return {
    'x-gitlab-event': event,
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${signature}`,
  };
}

const HEAD = '2222222222222222222222222222222222222222';
const MERGE = '3333333333333333333333333333333333333333';
export const COMMITS = { head: HEAD, merge: MERGE };

const GITLAB_PROJECT = {
  id: 15,
  name: 'Shop',
  web_url: 'https://gitlab.com/acme/web/shop',
  path_with_namespace: 'acme/web/shop',
  default_branch: 'trunk',
};
const rita = { id: 7, name: 'Rita', username: 'rita' };
const wim = { id: 8, name: 'Wim', username: 'wim' };

/** A delivery of a merge request: number 3 from `topic` to `trunk`. */
export const mergeRequest = (action: string | undefined, attributes: object = {}, more: object = {}) => ({
  object_kind: 'merge_request',
  event_type: 'merge_request',
  user: rita,
  project: GITLAB_PROJECT,
  object_attributes: {
    id: 99,
    iid: 3,
    title: 'Round totals',
    author_id: 7,
    state: 'opened',
    action,
    draft: false,
    source_branch: 'topic',
    target_branch: 'trunk',
    source_project_id: 15,
    target_project_id: 15,
    source: { path_with_namespace: 'acme/web/shop' },
    last_commit: { id: HEAD },
    merge_commit_sha: null,
    updated_at: '2026-11-21T09:30:00Z',
    ...attributes,
  },
  ...more,
});

export const gitlab = {
  project: GITLAB_PROJECT,
  rita,
  wim,
  note: (note: string, more: object = {}) => ({
    object_kind: 'note',
    user: rita,
    project: GITLAB_PROJECT,
    object_attributes: { id: 1244, note, noteable_type: 'MergeRequest', action: 'create', ...more },
    merge_request: { iid: 3, target_branch: 'trunk' },
  }),
  push: (ref: string, after: string) => ({
    object_kind: 'push',
    ref,
    after,
    user_username: 'rita',
    project: GITLAB_PROJECT,
  }),
  job: (build_id: number, retries_count: number, build_status = 'pending') => ({
    object_kind: 'build',
    ref: 'topic',
    tag: false,
    sha: HEAD,
    build_id,
    build_name: 'unit',
    build_status,
    retries_count,
    pipeline_id: 2366,
    user: rita,
    project: GITLAB_PROJECT,
  }),
  moved: (event_name: string, from: string) => ({
    event_name,
    name: 'shop',
    path: 'shop',
    path_with_namespace: 'acme/web/shop',
    old_path_with_namespace: from,
    project_id: 15,
  }),
};

const GITEA_REPOSITORY = {
  id: 140,
  name: 'shop',
  full_name: 'acme/shop',
  owner: { id: 1, login: 'acme' },
  html_url: 'https://git.acme.example/acme/shop',
  default_branch: 'trunk',
};
const mona = { id: 9, login: 'mona' };

export const gitea = {
  repository: GITEA_REPOSITORY,
  pull: (action: string, more: object = {}, pull: object = {}) => ({
    action,
    number: 4,
    pull_request: {
      id: 21,
      number: 4,
      title: 'Round totals',
      user: mona,
      draft: false,
      merged: false,
      merge_commit_sha: null,
      base: { label: 'trunk', ref: 'trunk', sha: MERGE, repo_id: 140, repo: GITEA_REPOSITORY },
      head: { label: 'topic', ref: 'topic', sha: HEAD, repo_id: 140, repo: GITEA_REPOSITORY },
      updated_at: '2026-11-21T09:30:00Z',
      ...pull,
    },
    repository: GITEA_REPOSITORY,
    sender: mona,
    review: null,
    ...more,
  }),
  comment: (body: string, more: object = {}) => ({
    action: 'created',
    is_pull: true,
    issue: { number: 4 },
    comment: { id: 61, body },
    repository: GITEA_REPOSITORY,
    sender: mona,
    ...more,
  }),
  deleted: (ref: string, ref_type = 'branch') => ({
    ref,
    ref_type,
    pusher_type: 'user',
    repository: GITEA_REPOSITORY,
    sender: mona,
  }),
  job: (action: string, run_attempt: number) => ({
    action,
    workflow_job: {
      id: 31,
      run_id: 12,
      run_attempt,
      name: 'unit',
      head_sha: HEAD,
      head_branch: 'topic',
    },
    repository: GITEA_REPOSITORY,
    sender: mona,
  }),
};

const CLOUD_REPOSITORY = {
  type: 'repository',
  full_name: 'acme/shop',
  name: 'Shop',
  uuid: '{673a6070-3421-46c9-9d48-90745f7bfe8e}',
  links: { html: { href: 'https://bitbucket.org/acme/shop' } },
};
const emma = { type: 'user', uuid: '{a54f16da-24e9-4d7f-a3a7-b1ba2cd98aa3}', nickname: 'emma', display_name: 'Emma' };

export const cloud = {
  emma,
  repository: CLOUD_REPOSITORY,
  pull: (pull: object = {}, more: object = {}) => ({
    actor: emma,
    repository: CLOUD_REPOSITORY,
    pullrequest: {
      id: 5,
      title: 'Round totals',
      state: 'OPEN',
      author: emma,
      source: { branch: { name: 'topic' }, commit: { hash: HEAD }, repository: CLOUD_REPOSITORY },
      destination: { branch: { name: 'trunk' }, commit: { hash: MERGE }, repository: CLOUD_REPOSITORY },
      merge_commit: null,
      updated_on: '2026-11-21T09:30:00.123456+00:00',
      ...pull,
    },
    ...more,
  }),
  push: (...changes: object[]) => ({ actor: emma, repository: CLOUD_REPOSITORY, push: { changes } }),
};

const CENTER_REPOSITORY = {
  id: 84,
  slug: 'shop',
  name: 'Shop',
  project: { key: 'ACME', id: 84 },
  links: { self: [{ href: 'https://bitbucket.acme.example/projects/ACME/repos/shop/browse' }] },
};
const admin = { id: 1, name: 'admin', slug: 'admin', displayName: 'Administrator' };

export const center = {
  admin,
  repository: CENTER_REPOSITORY,
  pull: (eventKey: string, more: object = {}, pull: object = {}) => ({
    eventKey,
    date: '2026-11-21T09:30:00+0000',
    actor: admin,
    pullRequest: {
      id: 6,
      title: 'Round totals',
      state: 'OPEN',
      updatedDate: 1_795_253_400_000,
      fromRef: { id: 'refs/heads/topic', displayId: 'topic', latestCommit: HEAD, repository: CENTER_REPOSITORY },
      toRef: { id: 'refs/heads/trunk', displayId: 'trunk', latestCommit: MERGE, repository: CENTER_REPOSITORY },
      author: { user: admin, role: 'AUTHOR' },
      ...pull,
    },
    ...more,
  }),
  refs: (...changes: object[]) => ({
    eventKey: 'repo:refs_changed',
    actor: admin,
    repository: CENTER_REPOSITORY,
    changes,
  }),
};
