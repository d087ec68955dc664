/**
 * Build statuses of commits at Bitbucket Cloud. One that is written again under its key takes the place of the one before.
 * https://developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses/
 */
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import { writeBuild } from '../writes/build-status.ts';
import type { CheckHost, CheckWritten, WantedCheck } from '../writes/check-host.ts';
import { cloudRest, repositoryPath } from './rest.ts';

export class BitbucketCloudStatus implements CheckHost {
  readonly subject: string;
  readonly #rest: HostRest;
  readonly #path: string;

  constructor(place: RemotePlace, commit: string) {
    this.subject = `the status of ${commit.slice(0, 12)}`;
    this.#path = `${repositoryPath(place.path)}/commit/${encodeURIComponent(commit)}/statuses/build`;
    this.#rest = cloudRest(place, 'It needs an access token with the scopes repository:write and pullrequest:write');
  }

  write(wanted: WantedCheck): Promise<CheckWritten> {
    return writeBuild(this.#rest, wanted, { readFrom: (key) => `${this.#path}/${key}`, writeTo: this.#path });
  }
}
