import type { ResolveHost } from "../../host/resolve-host.ts";
import type { CallUpgrade } from "../../host/upgrade-call.ts";
import type { CallWeb } from "../../host/web-call.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { NodeIdentity } from "./node-call.ts";
import type { StreamTranslation } from "./stream-translation.ts";

/** What the ways to nodes and pods are made of. */
export interface ConnectDeps {
  readonly reader: Pick<ResourceReader, "get">;
  readonly callWeb: CallWeb;
  readonly callUpgrade: CallUpgrade;
  readonly resolveHost: ResolveHost;
  readonly identity: NodeIdentity;
  /** A node whose API is elsewhere than it tells, because it is for nobody but this API server. */
  readonly localNode: { readonly name: string; readonly address: string } | undefined;
  readonly streams: StreamTranslation;
  /** 0…1, exclusive: which of a service's pods is asked. */
  random(): number;
}
