import { CUSTOM_BODIES } from "./custom-bodies.ts";
import { DEFINITION_BODIES } from "./definition-bodies.ts";
import type { HostileBody } from "./hostile-body.ts";
import { JSON_BODIES } from "./json-bodies.ts";
import { KIND_BODIES } from "./kind-bodies.ts";
import { PATCH_BODIES } from "./patch-bodies.ts";
import { POD_BODIES } from "./pod-bodies.ts";
import { PROTOBUF_BODIES } from "./protobuf-bodies.ts";
import { QUERY_BODIES } from "./query-bodies.ts";
import { YAML_BODIES } from "./yaml-bodies.ts";

/** Every kind of body that is known to have kept a server busy, and its relatives. */
export const HOSTILE_BODIES: readonly HostileBody[] = [
  ...YAML_BODIES,
  ...JSON_BODIES,
  ...POD_BODIES,
  ...KIND_BODIES,
  ...PATCH_BODIES,
  ...DEFINITION_BODIES,
  ...CUSTOM_BODIES,
  ...PROTOBUF_BODIES,
  ...QUERY_BODIES,
];
