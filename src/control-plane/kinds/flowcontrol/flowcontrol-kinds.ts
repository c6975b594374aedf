import type { ResourceKind } from "../../ports/resource-kind.ts";
import { flowSchemaKind } from "./flow-schema.ts";
import { priorityLevelKind } from "./priority-level.ts";

/** The kinds of flow control: `control-plane/flow-control` limits requests by them. */
export const FLOW_CONTROL_KINDS: readonly ResourceKind[] = [flowSchemaKind, priorityLevelKind];
