/** Learns the default branch of recorded repositories from answers that the host gives anyway, outside of requests. */
import type { RepositoryName } from '../domain/repository-path.ts';
import type { HostRepository } from '../hosts/host.ts';
import type { Logger } from '../observability/log.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';

export class HostDefaultBranches {
  /** Answers of the host that have been dealt with. */
  readonly #done = new WeakSet<HostRepository>();

  constructor(
    private readonly repositories: RepositoryStore,
    private readonly log: Logger,
  ) {}

  /** Returns at once. Reads once per answer of the host, and writes only if the branch differs. */
  learn(repository: RepositoryName, answer: HostRepository): void {
    if (answer.defaultBranch === null || this.#done.has(answer)) return;
    this.#done.add(answer);
    this.#learn(repository, answer.defaultBranch).then(
      (isRecorded) => {
        // The next use of this answer may come after the first upload.
        if (!isRecorded) this.#done.delete(answer);
      },
      (error) => {
        this.#done.delete(answer);
        this.log.warn({ err: error, ...repository }, 'the default branch that the host reports could not be stored');
      },
    );
  }

  async #learn({ owner, name }: RepositoryName, branch: string): Promise<boolean> {
    const recorded = await this.repositories.find(owner, name);
    if (!recorded) return false;
    if (recorded.defaultBranch === branch && recorded.defaultBranchSource === 'host') return true;
    if (recorded.defaultBranchSource === 'setting') return true;
    await this.repositories.learnDefaultBranch(recorded, branch, 'host');
    if (recorded.defaultBranch !== null && recorded.defaultBranch !== branch)
      this.log.info(
        { owner, name, before: recorded.defaultBranch, now: branch },
        'the host reports another default branch; run `rebuild` to judge the stored executions by it',
      );
    return true;
  }
}
