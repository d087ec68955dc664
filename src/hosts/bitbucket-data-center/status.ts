/** Build statuses of commits at Bitbucket Data Center, from version 7.4 on. */
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import { writeBuild } from '../writes/build-status.ts';
import type { CheckHost, CheckWritten, WantedCheck } from '../writes/check-host.ts';
import { centerRest, repositoryPath } from './rest.ts';

export class BitbucketDataCenterStatus implements CheckHost {
  readonly subject: string;
  readonly #rest: HostRest;
  readonly #path: string;

  constructor(place: RemotePlace, commit: string) {
    this.subject = `the status of ${commit.slice(0, 12)}`;
    this.#path = `${repositoryPath(place.path)}/commits/${encodeURIComponent(commit)}/builds`;
    this.#rest = centerRest(place, 'It needs an HTTP access token with the permission to read the repository');
  }

  write(wanted: WantedCheck): Promise<CheckWritten> {
    return writeBuild(this.#rest, wanted, { readFrom: (key) => `${this.#path}?key=${key}`, writeTo: this.#path });
  }
}
