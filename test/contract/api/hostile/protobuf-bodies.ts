import { CORE, type HostileBody } from "./hostile-body.ts";

const varint = (value: number) => {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 127) | 128);
  }
};
const field = (number: number, content: Buffer) =>
  Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
const protobuf = (name: string, kind: string, path: string, raw: () => Buffer): HostileBody => ({
  name: `protobuf: ${name}`,
  path,
  type: "application/vnd.kubernetes.protobuf",
  body: () =>
    Buffer.concat([
      Buffer.from("k8s\0"),
      field(1, Buffer.concat([field(1, Buffer.from("v1")), field(2, Buffer.from(kind))])),
      field(2, raw()),
    ]),
});
const meta = field(1, field(2, Buffer.from("hostile-")));
const many = (count: number, piece: Buffer) => Buffer.concat(Array.from({ length: count }, () => piece));

/** Elements of few bytes, which stand for much more than that. */
export const PROTOBUF_BODIES: readonly HostileBody[] = [
  protobuf("unknown fields", "ConfigMap", `${CORE}/configmaps`, () =>
    Buffer.concat([meta, many(1_400_000, Buffer.from([0xf8, 0x01, 0x01]).subarray(1, 3))]),
  ),
  protobuf("empty containers", "Pod", `${CORE}/pods`, () =>
    Buffer.concat([meta, field(2, many(700_000, field(2, Buffer.alloc(0))))]),
  ),
  protobuf("empty volumes", "Pod", `${CORE}/pods`, () =>
    Buffer.concat([meta, field(2, many(700_000, field(1, Buffer.alloc(0))))]),
  ),
  protobuf("empty arguments", "Pod", `${CORE}/pods`, () =>
    Buffer.concat([meta, field(2, field(2, many(700_000, field(4, Buffer.alloc(0)))))]),
  ),
  protobuf("specs", "Pod", `${CORE}/pods`, () => Buffer.concat([meta, many(700_000, field(2, Buffer.alloc(0)))])),
  protobuf("labels", "ConfigMap", `${CORE}/configmaps`, () =>
    field(1, Buffer.concat([field(2, Buffer.from("hostile-")), many(700_000, field(11, Buffer.alloc(0)))])),
  ),
  protobuf("groups", "ConfigMap", `${CORE}/configmaps`, () =>
    Buffer.concat([meta, many(1_400_000, Buffer.from([0x5b]))]),
  ),
];
