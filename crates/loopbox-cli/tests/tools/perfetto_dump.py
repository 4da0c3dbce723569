"""Decodes a trace with Perfetto's own schema and prints its tracks and samples as JSON, of the writer of the first packet or of the
one whose number is the second argument.

Fails on what the schema does not know, on packets without a timestamp, on slices that do not nest, and on samples of unknown stacks.
"""
import json
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto


def refuse_unknown(message):
    unknown = UnknownFieldSet(message)
    assert len(unknown) == 0, f"{message.DESCRIPTOR.name} has unknown fields {[f.field_number for f in unknown]}"
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else [value]:
                refuse_unknown(part)


trace = proto.Trace.FromString(open(sys.argv[1], "rb").read())
refuse_unknown(trace)
event_type = proto.TrackEvent.Type
clocks, tracks, names, default_clock, samples = {}, {}, {}, None, []
functions, frames, stacks, threads, files, primary = {}, {}, {}, {}, {}, set()
writer = int(sys.argv[2]) if len(sys.argv) > 2 else trace.packet[0].trusted_packet_sequence_id
for packet in trace.packet:
    if packet.clock_snapshot.primary_trace_clock:
        primary.add(packet.clock_snapshot.primary_trace_clock)
    if packet.trusted_packet_sequence_id != writer:
        continue
    if packet.HasField("trace_packet_defaults"):
        default_clock = packet.trace_packet_defaults.timestamp_clock_id
    for clock in packet.clock_snapshot.clocks:
        clocks[clock.clock_id] = clock.timestamp
    for name in packet.interned_data.event_names:
        names[name.iid] = name.name
    for text in packet.interned_data.function_names:
        functions[text.iid] = text.str.decode()
    for text in packet.interned_data.source_paths:
        files[text.iid] = text.str.decode()
    for frame in packet.interned_data.frames:
        assert not frame.source_path_iid or frame.source_path_iid in files
        frames[frame.iid] = functions[frame.function_name_id]
    for stack in packet.interned_data.callstacks:
        stacks[stack.iid] = [frames[frame] for frame in stack.frame_ids]
    for thread in packet.interned_data.stack_sample_task_contexts:
        threads[thread.iid] = thread.tid
    if packet.HasField("stack_sample"):
        sample = packet.stack_sample
        samples.append([packet.timestamp, threads[sample.task_context_iid], sample.primary_weight, stacks[sample.callstack_iid]])
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        tracks[track.uuid] = {
            "name": track.process.process_name or track.thread.thread_name or track.name,
            "parent": track.parent_uuid, "pid": track.process.pid or track.thread.pid, "tid": track.thread.tid,
            "unit": track.counter.unit_name, "slices": [], "values": [], "open": [],
        }
    if packet.HasField("track_event"):
        event, at = packet.track_event, packet.timestamp
        assert packet.HasField("timestamp")
        track = tracks[event.track_uuid]
        if event.type == event_type.TYPE_SLICE_BEGIN:
            name = event.name or names[event.name_iid]
            facts = {a.name: a.string_value for a in event.debug_annotations}
            slice = {"name": name, "at": at, "dur": None, "depth": len(track["open"]), "facts": facts}
            track["slices"].append(slice)
            track["open"].append(slice)
        elif event.type == event_type.TYPE_SLICE_END:
            slice = track["open"].pop()
            slice["dur"] = at - slice["at"]
            assert slice["dur"] >= 0
        elif event.type == event_type.TYPE_COUNTER:
            track["values"].append([at, event.double_counter_value])
        else:
            assert event.type == event_type.TYPE_INSTANT
            track["instant"] = {a.name: a.string_value for a in event.debug_annotations}
for track in tracks.values():
    assert not track.pop("open"), "a slice never ends"
    track["parent"] = tracks[track["parent"]]["name"] if track["parent"] else None
assert default_clock in clocks
print(json.dumps({"clocks": clocks, "tracks": {t["name"]: t for t in tracks.values()}, "count": len(tracks),
                  "samples": samples, "primary": sorted(primary), "packets": len(trace.packet)}))
