"""Writes a trace as Android's system has it, plain and gzipped: several writers, scheduling, its clock BOOTTIME.

Arguments: the two files, uptime and Unix time of one instant in nanoseconds.
"""
import gzip
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

plain, packed, uptime, realtime = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
suspended = 5_000_000_000
trace = proto.Trace()
snapshot = trace.packet.add(trusted_packet_sequence_id=1, trusted_uid=9999).clock_snapshot
snapshot.primary_trace_clock = 6
for clock, at in [(6, uptime + suspended), (3, uptime), (1, realtime)]:
    snapshot.clocks.add(clock_id=clock, timestamp=at)
process = trace.packet.add(trusted_packet_sequence_id=2, timestamp=uptime + suspended).process_tree.processes.add()
process.pid, process.cmdline[:] = 4321, ["com.example.shop"]
bundle = trace.packet.add(trusted_packet_sequence_id=3).ftrace_events
bundle.cpu = 0
event = bundle.event.add(timestamp=uptime, pid=0)
event.sched_switch.prev_comm, event.sched_switch.next_comm = "swapper", "example.shop"
event.sched_switch.next_pid = 4321
# A writer that has the number which nobody is likely to have.
trace.packet.add(trusted_packet_sequence_id=0x4C6F6F70, timestamp=uptime).for_testing.str = "taken"
data = trace.SerializeToString()
open(plain, "wb").write(data)
open(packed, "wb").write(gzip.compress(data))
