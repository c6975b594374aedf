import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Pod } from "../../api/gen/types.ts";
import { decodeProtobuf } from "../../api/protobuf/decode-protobuf.ts";
import { MAGIC } from "../../api/protobuf/magic.ts";

/** Reads a pod as Go's `Unmarshal` does, which the API of pods sends without Kubernetes' envelope. */
export function readPod(bytes: Uint8Array): Pod {
  const envelope = new BinaryWriter();
  envelope.tag(1, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).string("v1");
  envelope.tag(2, WireType.LengthDelimited).string("Pod").join();
  envelope.tag(2, WireType.LengthDelimited).bytes(bytes);
  const { apiVersion: _version, kind: _kind, ...pod } = decodeProtobuf(Buffer.concat([MAGIC, envelope.finish()]));
  return pod;
}
