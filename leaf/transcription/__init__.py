"""From sound to words. An engine gets plain PCM, never a file that somebody sent;
`files.transcripts` cuts, keeps and shares.

base      what an engine is        server    any OpenAI-compatible transcription server
engines   which one is on          whisper   faster-whisper in this process
"""
