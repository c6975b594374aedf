import type { ResolveHost } from "../../host/resolve-host.ts";
import type { CallUpgrade } from "../../host/upgrade-call.ts";
import type { CallWeb } from "../../host/web-call.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { NodeIdentity } from "./node-call.ts";
import type { StreamTranslation } from "./stream-translation.ts";

/** The dependencies of the ways to nodes and pods. */
export interface ConnectDeps {
  readonly reader: Pick<ResourceReader, "get">;
  readonly callWeb: CallWeb;
  readonly callUpgrade: CallUpgrade;
  readonly resolveHost: ResolveHost;
  readonly identity: NodeIdentity;
  /** A node that serves its API for this API server alone, at another address than it tells. */
  readonly localNode: { readonly name: string; readonly address: string } | undefined;
  readonly streams: StreamTranslation;
  /** 0…1, exclusive: chooses the pod of a service that is asked. */
  random(): number;
}
