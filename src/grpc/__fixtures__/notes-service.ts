/** A message of the service below. */
export interface Note {
  text: string;
}

const noteCodec = {
  encode: (note: Note) => ({ finish: () => new TextEncoder().encode(note.text) }),
  decode: (bytes: Uint8Array): Note => ({ text: new TextDecoder().decode(bytes) }),
};

const method = <Name extends string, Stream extends boolean>(name: Name, responseStream: Stream) => ({
  name,
  requestType: noteCodec,
  responseType: noteCodec,
  responseStream,
});

/** A service as generated code would define it: `say` answers a note, `follow` several. */
export const NotesDefinition = {
  fullName: "test.v1.Notes",
  methods: { say: method("Say", false), follow: method("Follow", true) },
} as const;
