// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import io.loopbox.internal.monitor.MonitorFiles;
import io.loopbox.internal.platform.Background;
import io.loopbox.internal.platform.Deletion;
import io.loopbox.internal.platform.OwnFile;
import io.loopbox.internal.report.PendingReports;
import io.loopbox.internal.report.SystemProfiles;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.regex.Pattern;

/**
 * Deletes what the recorder has written, for an app that may not keep it. This process deletes the files that
 * it knows. It also writes a word into the kill switch's file. Each process that finds this word, now or at a
 * later launch, deletes its files as well. So files that another process is writing now are deleted, and so
 * are files in a folder that only that process knows.
 */
public final class Purge {
    private static final String WORD = "purge";

    /**
     * Matches any file of the recorder, the native side's too, in a folder that may contain files of the app.
     */
    private static final Pattern OWN =
            Pattern.compile(
                    ".+\\.lbx(\\..+)?"
                            + "|ring-.+\\.lbr(\\..+)?"
                            + "|sampler-.+-[0-9a-f]{8}\\.off"
                            + "|start-.+-[0-9a-f]{1,8}"
                            + "|libart\\.symbols"
                            + "|uiperf\\.lock"
                            + "|uiperf-\\d{4}-\\d\\d-\\d\\d\\..+");

    /**
     * The file of the kill switch, if this process has found in it the word that requests deletion; otherwise
     * null.
     */
    private static volatile File asking;

    private Purge() {}

    /** Makes every process that finds the kill switch delete its files. */
    public static void ask(File killSwitch) throws IOException {
        FileOutputStream out = new FileOutputStream(killSwitch);
        try {
            out.write(WORD.getBytes("UTF-8"));
        } finally {
            out.close();
        }
    }

    /** Deletes the files on a separate thread, if the switch requests it. Any thread. */
    public static void ifAsked(final File killSwitch, final File folder) {
        // An empty one only switches off.
        if (killSwitch == null || killSwitch.length() == 0) {
            return;
        }
        asking = killSwitch;
        Background.run(
                "loopbox-purge",
                new Runnable() {
                    @Override
                    public void run() {
                        Purge.run(killSwitch, folder);
                    }
                });
    }

    /**
     * Repeats the deletion on a separate thread, if this process has found a kill switch that requests it.
     * This is for a monitor that the app has created since the first deletion, which did not know the
     * monitor's folder. {@code folder} is as for {@link #run}. Any thread.
     */
    public static void ifAsked(File folder) {
        ifAsked(asking, folder);
    }

    /**
     * Deletes everything in the switch's folder but the switch itself. Also deletes the recorder's files in
     * another folder, and those in the folders of the monitors that this process has made.
     *
     * @param folder the other folder; null for none
     * @return true if none of these files is left; otherwise the log names those that are
     */
    public static synchronized boolean run(File killSwitch, File folder) {
        File own = killSwitch.getParentFile();
        boolean none = folder == null || folder.equals(own) || isEmptied(folder);
        for (File monitor : MonitorFiles.folders()) {
            none &= isEmptied(monitor);
        }
        // The profiles that its reports and notes name first.
        none &= isEmptied(own);
        for (File file : filesIn(own)) {
            none &= file.equals(killSwitch) || isDeletedWhole(file);
        }
        return none && Deletion.isRead(own);
    }

    /**
     * Deletes the recorder's files in a folder, and in the recorder's own folders inside it. Removes these
     * inner folders if they are empty then. Returns true if none of the files is left.
     */
    private static boolean isEmptied(File folder) {
        boolean none = Deletion.isRead(folder);
        for (File file : filesIn(folder)) {
            if (OWN.matcher(file.getName()).matches() && !OwnFile.isFolder(file)) {
                SystemProfiles.deleteOf(file);
                none &= Deletion.isDeleted(file);
            }
        }
        File taken = new File(folder, PendingReports.TAKEN);
        none &= Deletion.isRead(taken);
        for (File process : filesIn(taken)) {
            none &= isEmptied(process);
            Deletion.removeEmpty(process);
        }
        Deletion.removeEmpty(taken);
        File monitor = new File(folder, MonitorFiles.FOLDER);
        none &= !OwnFile.isFolder(monitor) || isEmptied(monitor);
        Deletion.removeEmpty(monitor);
        return SystemProfiles.deleteNoted(folder) && none;
    }

    /** The files in a folder; none when it is a link. */
    private static File[] filesIn(File folder) {
        File[] files = OwnFile.isFolder(folder) ? folder.listFiles() : null;
        return files == null ? new File[0] : files;
    }

    private static boolean isDeletedWhole(File file) {
        boolean none = true;
        for (File each : filesIn(file)) {
            none &= isDeletedWhole(each);
        }
        return Deletion.isDeleted(file) && none;
    }
}
