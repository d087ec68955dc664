/**
 * What a repository host is to this service. A kind of host is a folder beside this file and a line in `hosts.ts`; its name
 * is in `HOST_KINDS`, too, because the database and the API list it.
 */
import type { Clock } from '../clock.ts';
import type { CodeownersHost } from '../domain/codeowners-pattern.ts';
import type { HostKindName } from '../domain/host-page.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import type { HostAnswer } from './api/answer.ts';
import type { AppAccess, AppTokens } from './app.ts';
import type { RemotePlace, RemoteRepository } from './remote.ts';
import type { Delivery } from './webhooks/delivery.ts';
import type { Outcome } from './webhooks/outcome.ts';

/**
 * Where a host shows what a repository holds, as templates that begin with `{url}`, the address of the repository. The
 * other names in braces are to be replaced by what is linked to.
 */
export interface LinkTemplates {
  /** With `{commit}`. */
  commit: string;
  /** What changed after `{from}` up to `{to}`. */
  compare: string;
  /** With `{commit}` and `{path}`, whose slashes stay. */
  file: string;
  /** Like `file`, with `{line}`, which counts from 1. */
  line: string;
  /** With `{number}`. */
  pull_request: string;
}

export interface Host {
  kind: HostKindName;
  /** For people, such as `GitHub`. */
  title: string;
  /** Where its public instance is; undefined: there is none. */
  home: string | undefined;
  /** The address of the REST API of an instance, from that for people. Neither ends with a slash. */
  apiUrlOf(url: string): string;
  links: LinkTemplates;
  /** As whose rules its CODEOWNERS is read. */
  codeownersRules: CodeownersHost;
  /** The part of a CI job's address that follows that of its repository; undefined: the host runs none, or none is told. */
  jobMark: string | undefined;
  /** Where people see the host whose identity tokens name this issuer; undefined: nowhere that is known. */
  ofIssuer(issuer: string): string | undefined;
  webhooks: HostWebhooks;
  /** What it says about the tokens of those who ask. */
  tokens(options: HostTokensOptions): HostTokens;
  /** The path of a repository in the REST API, from that of its page; undefined: owner and name. */
  pathOfPage?(path: string): string;
  /** What is read and written in a repository, with a token of the service or of a CI job. */
  remote(place: RemotePlace): RemoteRepository;
  /** Tokens of an App that is installed in repositories; undefined: the host has none, and a token is configured. */
  app?(access: AppAccess & { apiUrl: string }, now: () => number): AppTokens;
}

/** The repository of a delivery, as the host names it. */
export interface DeliveredRepository extends RepositoryName {
  /** Its address for people; null if the delivery does not say. */
  url: string | null;
  /** Null if the delivery does not say. */
  defaultBranch: string | null;
}

/** Whether a delivery is from the host; takes the same time for every wrong signature. */
type DeliveryCheck = (headers: Headers, body: Uint8Array) => Promise<boolean>;

/** Deliveries: from their bytes to what they say. Pure. */
export interface HostWebhooks {
  /** The types of deliveries that are read. */
  read: readonly string[];
  /** The other documented types: they are answered with 202 and make no event. */
  notOffered: readonly string[];
  /** The headers that prove who sent a delivery: it has one of them. */
  signatureHeaders: readonly string[];
  /** What that header must be, for messages: `X-Hub-Signature-256 must be …`. */
  signatureRule: string;
  /** A delivery may be signed with any of the secrets; there are two during a rotation. */
  checkOf(secrets: readonly string[]): DeliveryCheck;
  /** Reads a request that is signed. Throws a `WrongDelivery`. */
  deliveryOf(headers: Headers, body: Uint8Array): Delivery;
  /** Whether the host only tries whether the address works. */
  isTest(delivery: Delivery): boolean;
  /** Of a type that is read. Undefined if the delivery names none. Throws a ZodError for what the host does not send. */
  repositoryOf(delivery: Delivery): DeliveredRepository | undefined;
  /** Of a type that is read, and of a repository. Throws a ZodError for what the host does not send. */
  outcomeOf(delivery: Delivery): Outcome;
}

export interface HostTokensOptions {
  clock: Clock;
  /** Of the REST API, without a trailing slash. */
  apiUrl: string;
  /** For one question, including redirects. */
  requestMsMax?: number;
}

/** A repository, and the rights of a token in it. */
export interface HostRepository {
  pull: boolean;
  push: boolean;
  defaultBranch: string | null;
}

/** Questions about a token. Each asks the host once, or follows its redirects within the same origin. */
export interface HostTokens {
  /** Whether a text can be a token of this host. Nothing else is sent to it. */
  isToken(text: string): boolean;
  /** Who the token is: a login without `@`. Null: the host accepts the token, but does not say. */
  actor(token: string): Promise<HostAnswer<string | null>>;
  /** The repository as the token sees it. */
  repository(token: string, repository: RepositoryName): Promise<HostAnswer<HostRepository>>;
}
