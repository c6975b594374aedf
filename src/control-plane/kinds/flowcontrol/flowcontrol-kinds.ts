import type { ResourceKind } from "../../ports/resource-kind.ts";
import { flowSchemaKind } from "./flow-schema.ts";
import { priorityLevelKind } from "./priority-level.ts";

/** The kinds of flow control. They are stored; this API server makes no request wait. */
export const FLOW_CONTROL_KINDS: readonly ResourceKind[] = [flowSchemaKind, priorityLevelKind];
