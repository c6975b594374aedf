import { decodeProtobuf } from "../../../src/api/protobuf/decode-protobuf.ts";
import { encodeProtobuf, hasProtobufForm } from "../../../src/api/protobuf/encode-protobuf.ts";
import { promise, type Target } from "../target.ts";
import { refused } from "./expected.ts";
import { POD_OBJECT } from "./words.ts";

const SEEDS = [
  POD_OBJECT,
  { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", labels: { a: "b" } }, data: { a: "b", "": "" } },
  { apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, data: { a: "AAEC" } },
  { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec: { replicas: 3, selector: {} } },
  {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n" },
    status: { capacity: { cpu: "1", memory: "1Gi" }, conditions: [{ type: "Ready", status: "True" }] },
  },
  { apiVersion: "v1", kind: "Event", metadata: { name: "e" }, lastTimestamp: "2026-01-02T03:04:05Z", count: 3 },
].map((object) => encodeProtobuf(object));

/** Kubernetes' protobuf as Go programs send it. What was decoded is encoded to what reads as the same. */
export const protobufTarget: Target = {
  name: "protobuf",
  runs: 16_384,
  seeds: SEEDS,
  words: ["k8s\0", "\n", "\x12", "\x1a", "\xff\xff\xff\xff\x0f", "\x08\x01", Buffer.from([0xff, 0xff, 0xff, 0xff, 7])],
  maxBytes: 256 * 1024,
  setUp: async () => ({
    run(input) {
      const decoded = refused(() => decodeProtobuf(input));
      if (decoded === undefined) return;
      // The first form may lack what is always written.
      const bytes = encode(decoded);
      if (bytes === undefined) return;
      promise(
        bytes.equals(encode(decodeProtobuf(bytes)) ?? Buffer.alloc(0)),
        "what was encoded reads as something else",
      );
    },
  }),
};

function encode(object: Record<string, unknown>): Buffer | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== "string" || typeof kind !== "string" || !hasProtobufForm({ apiVersion, kind })) {
    return undefined;
  }
  return refused(() => encodeProtobuf({ ...object, apiVersion, kind }));
}
