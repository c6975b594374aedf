import ts from "typescript";
import { isBelow } from "../ranks.ts";
import { nodeRule, type Rule } from "../source.ts";

/** Where `unknown` becomes typed: what the API, the runtime, storage drivers and plugins say is decoded there. */
const DECODERS = ["src/api", "src/cri", "src/csi", "src/grpc", "src/plugin-registration"];

/** Casts only where the outside world is decoded: anywhere else the types are trusted, so they must be true. */
export const casts: Rule = nodeRule("casts", (node, source) => {
  if (!ts.isAsExpression(node) && !ts.isTypeAssertionExpression(node)) return undefined;
  if (ts.isConstTypeReference(node.type) || DECODERS.some((folder) => isBelow(source.path, folder))) return undefined;
  const type = node.type.getText().replace(/\s+/g, " ");
  return `\`as ${type}\`: decode, narrow or \`satisfies\` instead; casts belong into ${DECODERS.join(" and ")}`;
});
