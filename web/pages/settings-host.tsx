/** Where the repository is shown to people: the setting `host_page`, as fields of the form of settings. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { HostPage } from '../../src/domain/host-page.ts';
import type { RepositoryHost } from '../../src/insights/host.ts';
import { hostQuery, type RepositoryPath } from '../api/queries.ts';
import { Field } from '../ui/field.tsx';

const KINDS: Record<HostPage['kind'], string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  gitea: 'Gitea or Forgejo',
  'bitbucket-cloud': 'Bitbucket Cloud',
  'bitbucket-data-center': 'Bitbucket Data Center',
};
const isKind = (text: string): text is HostPage['kind'] => Object.hasOwn(KINDS, text);

/** Who else says where the repository is, in words. */
const SOURCES: Record<Exclude<RepositoryHost['source'], 'setting' | null>, string> = {
  upload: 'an upload',
  identity_token: 'an identity token of CI',
  webhook: 'a webhook',
};

export function HostFields({ path, page }: { path: RepositoryPath; page: HostPage | null }) {
  const { owner, repository } = path;
  const { data: host } = useQuery(hostQuery({ owner, repository }));
  const [kind, setKind] = useState<string>(page?.kind ?? '');
  return (
    <>
      <Field label="Repository host" hint="Where commits, files and pull requests link to.">
        <select name="host_kind" className="field w-full" value={kind} onChange={({ target }) => setKind(target.value)}>
          <option value="">as webhooks, identity tokens or uploads say</option>
          {Object.entries(KINDS).map(([one, name]) => (
            <option key={one} value={one}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      {kind === '' ? (
        <p className="self-center text-xs break-words text-soft">{host && toldWords(host)}</p>
      ) : (
        <Field label="Address of the repository there" hint="With http or https, without a password, ? and #.">
          <input
            name="host_url"
            type="url"
            required
            maxLength={1_000}
            className="field"
            placeholder={`https://git.example.com/${owner}/${repository}`}
            defaultValue={page?.url ?? host?.url ?? ''}
          />
        </Field>
      )}
    </>
  );
}

function toldWords({ url, source }: RepositoryHost): string {
  if (url === null || source === null) return 'No one has said it yet, so there are no links.';
  return source === 'setting' ? `Until now ${url}.` : `${url}, as ${SOURCES[source]} says.`;
}

/** The host page in the form; null: no one has set it. */
export function hostPageIn(form: FormData): HostPage | null {
  const kind = String(form.get('host_kind') ?? '');
  return isKind(kind) ? { kind, url: String(form.get('host_url') ?? '').trim() } : null;
}

export const isSameHost = (one: HostPage | null, other: HostPage | null): boolean =>
  one?.kind === other?.kind && one?.url === other?.url;
